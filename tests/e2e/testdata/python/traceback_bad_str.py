# exit: 1
# says: <exception str() failed>
class Bad(Exception):
    def __str__(self):
        raise RuntimeError("no text")


raise Bad()
