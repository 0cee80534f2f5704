// The commands that steer work under way: approvals, cancellation, and which agents are there.
import type { Command } from 'commander'
import { code, limit, numberBetween } from './arguments.ts'
import type { Run } from './arguments.ts'

export function addApprovals(program: Command, run: Run): void {
  const approvals = program
    .command('approvals')
    .description('handoffs that wait until a person approves')
  approvals
    .command('ls')
    .description('list them, oldest first')
    .option('--limit <number>', 'how many', limit, 20)
    .action(async (options: { limit: number }, command: Command) => {
      const { listWaiting } = await import('./commands/approvals.ts')
      await run(command, (context) => listWaiting(context, options))
    })
  for (const decision of ['approve', 'reject'] as const) {
    approvals
      .command(decision)
      .description(
        decision === 'approve' ? 'let a handoff go' : 'end a handoff; its sender is told',
      )
      .argument('<handoff>', 'handoff id')
      .option('--reason <code>', 'goes on record with the decision, such as TOO_EXPENSIVE', code)
      .action(async (handoffId: string, { reason }: { reason?: string }, command: Command) => {
        const { decide } = await import('./commands/approvals.ts')
        await run(command, (context) => decide(context, { handoffId, decision, reason }))
      })
  }
}

const GRACE_S_DEFAULT = 5
const GRACE_S_MAX = 3_600

export function addCancel(program: Command, run: Run): void {
  program
    .command('cancel')
    .description('cancel a handoff, or a task with everything open in it')
    .argument('<id>', 'the whole id of a task or a handoff')
    .option(
      '--grace <seconds>',
      'how long a result of what executes now still counts',
      numberBetween(0, GRACE_S_MAX),
      GRACE_S_DEFAULT,
    )
    .action(async (id: string, options: { grace: number }, command: Command) => {
      const { cancel } = await import('./commands/cancel.ts')
      await run(command, (context) => cancel(context, { id, graceSeconds: options.grace }))
    })
}

export function addAgents(program: Command, run: Run): void {
  program
    .command('agents')
    .description('list the agent types that have a live worker')
    .action(async (_: object, command: Command) => {
      const { agents } = await import('./commands/agents.ts')
      await run(command, agents)
    })
}
