# exit: 1
# says: ZeroDivisionError
# says: more
import traceback

try:
    1 / 0
except ZeroDivisionError as error:
    traceback.print_exc()
    traceback.print_exception(error)
    print(traceback.format_exc(), traceback.extract_tb(error.__traceback__))
    assert False, "more"
