// The commands about dead letters: handoffs that wait for a person.
import type { Command } from 'commander'
import { limit } from './arguments.ts'
import type { Run } from './arguments.ts'

export function addDeadLetters(program: Command, run: Run): void {
  program
    .command('dlq')
    .description('dead letters: handoffs that wait for a person')
    .command('ls')
    .description('list dead letters, oldest first')
    .option('--limit <number>', 'how many', limit, 20)
    .action(async (options: { limit: number }, command: Command) => {
      const { deadLetters } = await import('./commands/dead-letters.ts')
      await run(command, (context) => deadLetters(context, options))
    })
}
