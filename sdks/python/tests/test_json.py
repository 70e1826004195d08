"""Numbers are written so that servers read the float that the gate has."""

import math
import random
import struct
import unittest

from remit._json import canonical


class Numbers(unittest.TestCase):
    def test_large_integers_have_all_digits(self):
        for number in (2.0**53, 2.0**60, -(2.0**64), 725653563933458432.0, 1e20, 1e21 - 131072):
            self.assertEqual(canonical(number), str(int(number)))
        self.assertEqual(canonical(1e21), "1e+21")

    def test_every_number_is_read_as_itself(self):
        for _ in range(2_000):
            (number,) = struct.unpack("d", random.randbytes(8))
            if math.isfinite(number):
                self.assertEqual(float(canonical(number)), number)
