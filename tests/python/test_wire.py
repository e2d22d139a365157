"""Columns of numbers are read as Protocol Buffers write them. The oracle reads byte by byte."""

import random
import unittest

import support  # noqa: F401  (finds the package)
import numpy as np
from lanescope import _wire


class Varints(unittest.TestCase):
    def test_numbers_of_every_length_come_back(self):
        generator = random.Random(7)
        for count in (1, 2, 100, 5000):
            numbers = [generator.getrandbits(generator.choice((1, 6, 7, 8, 14, 21, 35, 56, 63, 64))) for _ in range(count)]
            packed = b"".join(map(support.varint, numbers))
            self.assertEqual(_wire.varints(memoryview(packed)).tolist(), numbers)

    def test_signed_numbers_come_back(self):
        numbers = [0, -1, 1, -2, 2**31, -(2**31), 2**63 - 1, -(2**63)]
        packed = b"".join(map(support.zigzag, numbers))
        self.assertEqual(_wire.zigzag(_wire.varints(memoryview(packed))).tolist(), numbers)

    def test_cut_and_overlong_numbers_are_refused(self):
        for packed in (b"\x80", b"\x01\xff", b"\x80" * 10 + b"\x01"):
            with self.assertRaises(_wire.WireError):
                _wire.varints(memoryview(packed))

    def test_running_sums_wrap_as_64_bits_do(self):
        self.assertEqual(_wire.running_sum(np.array([2**63 - 1, 1], dtype=np.int64)).tolist(), [2**63 - 1, -(2**63)])


class Fields(unittest.TestCase):
    def test_fields_come_in_order(self):
        data = support.field(1, 300) + support.field(2, b"text") + support.field(300, 1)
        self.assertEqual([(number, value if isinstance(value, int) else bytes(value)) for number, value in _wire.fields(data)], [(1, 300), (2, b"text"), (300, 1)])

    def test_every_cut_message_is_refused_or_shorter(self):
        data = support.field(1, 300) + support.field(2, b"text") + support.varint(3 << 3 | 1) + bytes(8)
        whole = len(list(_wire.fields(data)))
        for end in range(len(data)):
            try:
                self.assertLess(len(list(_wire.fields(data[:end]))), whole)
            except _wire.WireError:
                pass

    def test_runs_are_the_same_fields(self):
        generator = random.Random(5)
        begins = [10, 18, 26, 8, 16, 9, 13, 0x82, 1, 0x0B, 2, 3, 200, 255, 0]  # first bytes of fields of all types, and of invalid ones

        def read(walk, data):
            try:
                return [(number, part if isinstance(part, int) else bytes(part)) for number, value in walk(data) for part in (value if isinstance(value, list) else [value])]
            except _wire.WireError:
                return "no message"

        messages = [bytes(generator.choice(begins) for _ in range(generator.randrange(24))) for _ in range(20_000)]
        messages.append(b"".join(support.field(3, b"%d" % i) for i in range(10_000)) + support.field(4, bytes(300)))
        for data in messages:
            self.assertEqual(read(_wire.runs, data), read(_wire.fields, data))
        self.assertGreater(sum(read(_wire.fields, data) != "no message" for data in messages), 1_000)


if __name__ == "__main__":
    unittest.main()
