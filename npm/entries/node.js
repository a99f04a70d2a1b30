// @exports ./node.cjs
