# exit: 1
# says: ImportError: cannot import name 'nothing_like_it' from 'json'
from json import nothing_like_it
