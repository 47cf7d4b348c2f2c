import sys
from superfactor._new.bridge import install
install()
if __name__ == "__main__":
    from benchmarks.__main__ import main
    main(sys.argv[1:])
