# exit: 1
# says: NameError: name 'lenght' is not defined
length = 5
print(lenght)
