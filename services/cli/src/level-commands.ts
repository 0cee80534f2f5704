// The commands about how the service stands: once, and live.
import { Option } from 'commander'
import type { Command } from 'commander'
import type { Run } from './arguments.ts'
import type { LevelsAsked } from './commands/service-levels.ts'

const asking = (command: Command): Command =>
  command
    .addOption(
      new Option('--transport <name>', 'only handoffs by one transport').choices([
        'http',
        'queue',
        'temporal',
      ]),
    )
    .option('--from <agent>', 'only pairs that this agent type hands on from')
    .option('--to <agent>', 'only pairs that hand on to this agent type')

export function addSlo(program: Command, run: Run): void {
  asking(program.command('slo'))
    .description(
      'how the service stands against its objectives; exit 1 where an error budget is spent',
    )
    .action(
      run(async (context, asked: LevelsAsked) =>
        (await import('./commands/slo.ts')).slo(context, asked),
      ),
    )
}

export function addTop(program: Command, run: Run): void {
  asking(program.command('top'))
    .description('what goes through now and what waits, live: space pauses, q quits')
    .action(
      run(async (context, asked: LevelsAsked) =>
        (await import('./commands/top.ts')).top(context, asked),
      ),
    )
}
