// `audit recover-seals`: the sealer's lost state file, made anew where its anchors vouch for the database.
import type { Context } from '../context.ts'
import { EXIT } from '../exit-codes.ts'
import type { ExitCode } from '../exit-codes.ts'
import { recoverSealer } from '../instance/recover-sealer.ts'
import { nextStep } from '../terminal/next-steps.ts'

/** Exit code 3 where the database is not what was sealed, 4 where nothing outside vouches for it. */
export async function recoverSeals(context: Context): Promise<ExitCode> {
  const code = await recoverSealer(context)
  if (code === EXIT.fine) context.output.next(nextStep('verify'))
  if (code === EXIT.fine || code === EXIT.verificationFailed || code === EXIT.incomplete)
    return code
  return EXIT.failure
}
