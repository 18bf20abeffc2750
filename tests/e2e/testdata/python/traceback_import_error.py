# exit: 1
# says: ModuleNotFoundError: No module named 'not_installed_here'
import json
from not_installed_here import x
