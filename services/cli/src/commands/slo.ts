// `slo`: how the service stands against what it promises, from the database; no Prometheus is needed.
import type { Context } from '../context.ts'
import { EXIT } from '../exit-codes.ts'
import type { ExitCode } from '../exit-codes.ts'
import { withReadingGateway } from '../gateway-client.ts'
import { nextStep } from '../terminal/next-steps.ts'
import { painted } from '../terminal/states.ts'
import { levelsText } from './level-tables.ts'
import { readLevels } from './service-levels.ts'
import type { Levels, LevelsAsked } from './service-levels.ts'

/** Exit code 1 where nothing is left of an error budget, so that a script can ask. */
export async function slo(context: Context, asked: LevelsAsked): Promise<ExitCode> {
  const { output } = context
  const levels = await withReadingGateway(context, (gateway) => readLevels(gateway, asked))
  if (output.json) output.data(JSON.stringify(levels))
  else output.data(painted(levelsText(levels, output.width)))
  output.next(stepFor(levels))
  return levels.objectives.some(({ state }) => state === 'exhausted') ? EXIT.failure : EXIT.fine
}

function stepFor({ since, waiting, objectives }: Levels): string {
  if (since === null) return nextStep('up --once')
  if (objectives.some(({ state }) => state === 'exhausted' || state === 'burning'))
    return nextStep('top')
  if (waiting.deadLetters > 0) return nextStep('dlq ls')
  if (waiting.approvals > 0) return nextStep('approvals ls')
  return nextStep(waiting.alerts > 0 ? 'alerts ls' : 'top')
}
