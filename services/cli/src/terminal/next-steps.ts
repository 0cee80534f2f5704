// How a person calls this command line again, the same way they did this time.

/** The words before a subcommand: through npm in a checkout. */
export const COMMAND = 'npm run baton --'

export const nextStep = (args: string): string => `${COMMAND} ${args}`
