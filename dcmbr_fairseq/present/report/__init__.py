"""The report: one self-contained HTML page for looking into decisions. ``collect`` gathers, ``page`` writes."""
