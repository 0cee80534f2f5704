// A state is a sign and a word everywhere; on a terminal that shows colours it is also in one.
import { styleText } from 'node:util'

const COLOURS = { '✓': 'green', '▲': 'yellow', '✗': 'red' } as const

/** Colours signs with their word; nothing where stdout is no terminal or NO_COLOR is set. */
export const painted = (text: string): string =>
  text.replaceAll(/([✓▲✗]) [a-z]+/g, (state, sign: keyof typeof COLOURS) =>
    styleText(COLOURS[sign], state, { stream: process.stdout }),
  )
