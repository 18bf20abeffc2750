# says: Traceback (most recent call last):
# says: WARNING:root:w
import logging

logging.basicConfig(format="%(levelname)s:%(name)s:%(message)s (%(filename)s:%(lineno)d %(funcName)s)")
logging.warning("w")
try:
    1 / 0
except ZeroDivisionError:
    logging.exception("e")
