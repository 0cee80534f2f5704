// How a person calls this command line again, the same way they did this time.

/** The words before a subcommand: through npm in a checkout. */
export const COMMAND = 'npm run baton --'

/** The same from any folder, for what takes its output: npm itself is silent then. */
export const quietCommand = (root: string): string =>
  `npm --prefix ${quoted(root.replace(/\/$/, ''))} run --silent baton --`

/** As a shell of POSIX reads it. */
export const quoted = (text: string): string =>
  /^[\w./:@%+,=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`

export const nextStep = (args: string): string => `${COMMAND} ${args}`

/** Words that tell what to type, for the instance that `--home` named: as they are they would be about the one of the checkout. */
export const inHome = (words: string, home: string | undefined): string =>
  home === undefined
    ? words
    : words.replaceAll(/npm run (?:baton|up) -- /g, (start) => `${start}--home ${quoted(home)} `)
