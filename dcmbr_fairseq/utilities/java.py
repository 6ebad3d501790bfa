"""Where Java is, for the utilities that are Java programs."""

import os
import shutil

from dcmbr_fairseq.errors import UserError


def find_java(needed_by: str) -> str:
    """The path of ``java``: from $JAVA_HOME, or on the PATH.

    Raises:
        UserError: there is none; the sentence says that ``needed_by`` needs it, and how to get it.
    """
    home = os.environ.get("JAVA_HOME")
    found = shutil.which("java", path=os.path.join(home, "bin")) if home else None
    found = found or shutil.which("java")
    if found is None:
        raise UserError(
            f"{needed_by} needs Java: install a JRE (apt-get install default-jre-headless), or set JAVA_HOME"
        )
    return found
