// The words that remedies have somebody type: those of a checkout become those of whoever installed a package.

const TYPED: readonly (readonly [RegExp, string])[] = [
  [/npm run (?:--silent )?baton --/g, 'npx @baton/cli'],
  [/npm run up --/g, 'npx @baton/cli up'],
  [/npm run up\b/g, 'npx @baton/cli up'],
]

export const asTypedOutside = (text: string): string =>
  TYPED.reduce((words, [inCheckout, outside]) => words.replaceAll(inCheckout, outside), text)
