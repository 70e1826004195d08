"""`python -m remit`."""

import sys

from ._doctor import main

if __name__ == "__main__":
    sys.exit(main())
