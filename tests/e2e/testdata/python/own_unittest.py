# exit: 1
# says: FAILED (failures=1)
import unittest


class Test(unittest.TestCase):
    def test_good(self):
        self.assertEqual(1, 1)

    def test_bad(self):
        self.assertEqual(1, 2)


if __name__ == "__main__":
    import sys

    program = unittest.main(exit=False, testRunner=unittest.TextTestRunner(stream=open("log", "w")))
    print(program.result)
    print("FAILED (failures=%d)" % len(program.result.failures))
    sys.exit(not program.result.wasSuccessful())
