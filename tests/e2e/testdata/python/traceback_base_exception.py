# exit: 1
# says: GeneratorExit: g
raise GeneratorExit("g")
