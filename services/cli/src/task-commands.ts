// The commands about tasks: what happened to one, which there are, and taking one up again.
import type { Command } from 'commander'
import { TASK, limit } from './arguments.ts'
import type { Run } from './arguments.ts'

export function addTrace(program: Command, run: Run): void {
  program
    .command('trace')
    .description('show what happened to a task, hop by hop, from the audit log')
    .argument('<task>', TASK)
    .action(async (task: string, _: object, command: Command) => {
      const { trace } = await import('./commands/trace.ts')
      await run(command, (context) => trace(context, task))
    })
}

export function addTasks(program: Command, run: Run): void {
  program
    .command('tasks')
    .description('list tasks, newest first')
    .option('--status <status>', 'only tasks of this status')
    .option('--limit <number>', 'how many', limit, 20)
    .action(async (options: { status?: string; limit: number }, command: Command) => {
      const { tasks } = await import('./commands/tasks.ts')
      await run(command, (context) => tasks(context, options))
    })
}

export function addTask(program: Command, run: Run): void {
  const task = program
    .command('task')
    .description('one task: how it stands, and taking it up again')
  task
    .command('show')
    .description('show the handoffs of a task')
    .argument('<task>', TASK)
    .action(async (id: string, _: object, command: Command) => {
      const { showTask } = await import('./commands/tasks.ts')
      await run(command, (context) => showTask(context, id))
    })
  task
    .command('checkpoint')
    .description('write the exact bytes its sender saved last to standard output')
    .argument('<task>', TASK)
    .action(async (id: string, _: object, command: Command) => {
      const { showCheckpoint } = await import('./commands/tasks.ts')
      await run(command, (context) => showCheckpoint(context, id))
    })
  task
    .command('resume')
    .description('send what was rolled back or has expired again; safe to repeat')
    .argument('<task>', TASK)
    .option('--to <agent>', 'to another agent type than before')
    .action(async (id: string, { to }: { to?: string }, command: Command) => {
      const { resumeTask } = await import('./commands/tasks.ts')
      await run(command, (context) => resumeTask(context, { task: id, to }))
    })
}
