// How many columns a terminal gives to a text.
import { createRequire } from 'node:module'
import type StringWidth from 'string-width'

const require = createRequire(import.meta.url)
let measure: typeof StringWidth | undefined

/** The library knows every emoji, and to load it takes a tenth of a second: most tables have none. */
const loadMeasure = (): typeof StringWidth =>
  (require('string-width') as { readonly default: typeof StringWidth }).default

// Letters of Latin-1, dashes, quotes, arrows and the marks of checks.
const PLAIN =
  /^[ -~\u00a1-\u00ac\u00ae-\u00ff\u2013\u2014\u2018-\u201d\u2026\u2190-\u2193\u2713\u2717]*$/

/** Each character takes one column. */
export const isPlain = (text: string): boolean => PLAIN.test(text)

export function widthOf(text: string): number {
  if (isPlain(text)) return text.length
  measure ??= loadMeasure()
  return measure(text)
}

/** Of the terminal that stdout is. What is no terminal has no width: a program reads it, and nothing may be cut. */
export const widthOfTerminal = ({ isTTY, columns } = process.stdout): number =>
  isTTY ? columns || Infinity : Infinity
