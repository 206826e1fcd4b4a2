"""Run the command line as `python -m faultlayer`."""

from faultlayer.cli import main

if __name__ == "__main__":
    main()
