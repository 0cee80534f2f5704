// `audit tiers`, `audit hold` and `audit unhold`: where records stand, and which of them must stay.
import type { Command } from 'commander'
import { TASK } from './arguments.ts'
import type { Run } from './arguments.ts'

export function addTiers(audit: Command, run: Run): void {
  audit
    .command('tiers')
    .description('where the records stand: database, cold store, expired, held')
    .action(async (_: object, command: Command) => {
      const { tiers } = await import('./commands/tiers.ts')
      await run(command, tiers)
    })
  for (const [name, held, what] of HOLDS) {
    audit
      .command(name)
      .description(what)
      .argument('<task>', TASK)
      .action(async (task: string, _: object, command: Command) => {
        const { hold } = await import('./commands/hold.ts')
        await run(command, (context) => hold(context, { task, held }))
      })
  }
}

const HOLDS = [
  ['hold', true, 'keep the records of a task from every deletion, for a court or an inquiry'],
  ['unhold', false, 'let the records of a task go when their time is over'],
] as const
