// The commands about the scanner: what it says of a text, and why.
import type { Command } from 'commander'
import type { Run } from './arguments.ts'

export function addSafety(program: Command, run: Run): void {
  const safety = program
    .command('safety')
    .description('the scanner: what it says of a text, and why')
  safety
    .command('test')
    .description(
      'judge a file by the rules and the model of this version, without an instance: exit 0 where a receiver would take it (allow or flag), 1 where it would reject it, 2 where it cannot be read',
    )
    .argument('<file>', 'a handoff message as JSON, or any text; - for standard input')
    .option('--text', 'read it as text even where it begins like JSON')
    .action(
      run(async (context, file: string, { text = false }: { text?: boolean }) =>
        (await import('./commands/safety-test.ts')).safetyTest(context, { file, text }),
      ),
    )
  safety
    .command('explain')
    .description(
      'what a rule looks for, what it may cause and what to do; or what was found in a handoff that was stopped',
    )
    .argument(
      '<rule-or-handoff>',
      'id of a rule, or of a dead letter’s handoff or task (its first digits are enough)',
    )
    .action(
      run(async (context, named: string) =>
        (await import('./commands/safety-explain.ts')).safetyExplain(context, named),
      ),
    )
}
