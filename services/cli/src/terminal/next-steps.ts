// How a person calls this command line again, the same way they did this time.

import { IS_CHECKOUT, ROOT } from '../root.ts'

/** The words before a subcommand: through npm in a checkout. Packing makes what is typed outside of it from all such words. */
export const COMMAND = 'npm run baton --'

/** As a shell of POSIX reads it. */
export function quoted(text: string): string {
  return /^[\w./:@%+,=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}

/** The same from any folder, for what takes its output: npm itself is silent then. */
export const quietCommand = IS_CHECKOUT
  ? `npm --prefix ${quoted(ROOT.replace(/\/$/, ''))} run --silent baton --`
  : COMMAND

export const nextStep = (args: string): string => `${COMMAND} ${args}`

/** Words that tell what to type, for the instance that `--home` named: as they are they would be about the one of the checkout. */
export const inHome = (words: string, home: string | undefined): string =>
  home === undefined
    ? words
    : words.replaceAll(
        /(?:npm run (?:baton|up) --|npx @baton\/cli) /g,
        (start) => `${start}--home ${quoted(home)} `,
      )
