"""What needs no model: tidy tables, layouts, figures, correlation, the paper's numbers, the report page."""
