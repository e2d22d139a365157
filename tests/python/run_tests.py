"""run_tests.py MODULE: runs its tests, and prints which were skipped and why. Exit code 1 if one failed, 77 if most were skipped."""
import collections
import sys
import unittest


def main():
    result = unittest.TextTestRunner().run(unittest.defaultTestLoader.loadTestsFromName(sys.argv[1]))
    for reason, count in collections.Counter(reason for _, reason in result.skipped).items():
        print(f"{reason}: {count} not tried")
    if not result.wasSuccessful() or result.testsRun + len(result.skipped) == 0:
        return 1
    return 77 if 2 * len(result.skipped) > result.testsRun else 0


if __name__ == "__main__":  # processes that a test spawns import this file
    sys.exit(main())
