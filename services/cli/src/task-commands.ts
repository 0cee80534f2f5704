// The commands about work under way: what happened to a task, which there are, and what people decide about them.
import type { Command } from 'commander'
import { code, FEW_MAX, numberBetween, paged, TASK, wholeNumber } from './arguments.ts'
import type { Run } from './arguments.ts'
import type { PageFlags } from './commands/list-pages.ts'

const tasksModule = () => import('./commands/tasks.ts')

export function addTrace(program: Command, run: Run): void {
  program
    .command('trace')
    .description('show what happened to a task, hop by hop, from the audit log')
    .argument('<task>', TASK)
    .action(
      run(async (context, task: string) =>
        (await import('./commands/trace.ts')).trace(context, task),
      ),
    )
}

export function addResult(program: Command, run: Run): void {
  program
    .command('result')
    .description('print what a task came to; exit 4 while it is not done')
    .argument('<task>', TASK)
    .action(
      run(async (context, task: string) =>
        (await import('./commands/result.ts')).result(context, task),
      ),
    )
}

export function addTasks(program: Command, run: Run): void {
  paged(program.command('tasks'))
    .description('list tasks, newest first')
    .option('--status <status>', 'only tasks of this status')
    .action(
      run(async (context, options: PageFlags & { status?: string }) =>
        (await tasksModule()).tasks(context, options),
      ),
    )
}

const CHUNKS_MAX = 10_000

export function addStream(program: Command, run: Run): void {
  program
    .command('stream')
    .description(
      'follow what a handoff yields while it executes; exit 1 where it ends without a result',
    )
    .argument('<handoff>', 'handoff id')
    .option('--after <number>', 'only chunks after this one', wholeNumber(0, CHUNKS_MAX), 0)
    .action(
      run(async (context, id: string, { after }: { after: number }) =>
        (await import('./commands/stream.ts')).stream(context, { id, after }),
      ),
    )
}

export function addTask(program: Command, run: Run): void {
  const task = program
    .command('task')
    .description('one task: how it stands, and taking it up again')
  task
    .command('show')
    .description('show the handoffs of a task')
    .argument('<task>', TASK)
    .action(run(async (context, id: string) => (await tasksModule()).showTask(context, id)))
  task
    .command('checkpoint')
    .description('write the exact bytes its sender saved last to standard output')
    .argument('<task>', TASK)
    .action(run(async (context, id: string) => (await tasksModule()).showCheckpoint(context, id)))
  task
    .command('resume')
    .description('send what was rolled back or has expired again; safe to repeat')
    .argument('<task>', TASK)
    .option('--to <agent>', 'to another agent type than before')
    .option('--handoff <id>', 'which one, where several branches came back (default: the latest)')
    .action(
      run(async (context, id: string, { to, handoff }: { to?: string; handoff?: string }) =>
        (await tasksModule()).resumeTask(context, { task: id, to, handoff }),
      ),
    )
}

export function addApprovals(program: Command, run: Run): void {
  const approvals = program
    .command('approvals')
    .description('handoffs that wait until a person approves')
  paged(approvals.command('ls'))
    .description('list them, oldest first')
    .action(
      run(async (context, options: PageFlags) =>
        (await import('./commands/approvals.ts')).listWaiting(context, options),
      ),
    )
  for (const [decision, what] of DECISIONS) {
    approvals
      .command(decision)
      .description(what)
      .argument('<handoff>', 'handoff id')
      .option('--reason <code>', 'goes on record with the decision, such as TOO_EXPENSIVE', code)
      .action(
        run(async (context, handoffId: string, { reason }: { reason?: string }) => {
          const { decide } = await import('./commands/approvals.ts')
          return decide(context, { handoffId, decision, reason })
        }),
      )
  }
}

const DECISIONS = [
  ['approve', 'let a handoff go'],
  ['reject', 'end a handoff; its sender is told'],
] as const

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
    .action(
      run(async (context, id: string, { grace }: { grace: number }) =>
        (await import('./commands/cancel.ts')).cancel(context, { id, graceSeconds: grace }),
      ),
    )
}

export function addAgents(program: Command, run: Run): void {
  paged(program.command('agents'), FEW_MAX)
    .description('list the agent types that have a live worker, by name')
    .action(
      run(async (context, flags: PageFlags) =>
        (await import('./commands/agents.ts')).agents(context, flags),
      ),
    )
}
