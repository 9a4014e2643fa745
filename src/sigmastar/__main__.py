"""``python -m sigmastar``: the command line without the script."""

from sigmastar.cli.main import main

if __name__ == "__main__":
    main()
