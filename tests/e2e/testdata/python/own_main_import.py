# says: import again: main
# says: 5
value = 5
if __name__ == "__main__":
    import main

    print(main.value, main is not __import__("__main__"))
else:
    print("import again:", __name__)
