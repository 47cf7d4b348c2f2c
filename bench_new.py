import sys
from superfactor._new.bridge import install
install()
from benchmarks.__main__ import main
main(sys.argv[1:])
