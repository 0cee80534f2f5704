// The commands about a person: where they stand, and erasing them with two people.
import { Option } from 'commander'
import type { Command } from 'commander'
import { code, paged } from './arguments.ts'
import type { Run } from './arguments.ts'
import type { PageFlags } from './commands/list-pages.ts'

interface EraseFlags {
  readonly basis?: string
  readonly plan?: boolean
  readonly confirm?: string
  readonly status?: string
  readonly replay?: boolean
  readonly purgeStorage?: boolean
}

export function addErase(program: Command, run: Run): void {
  program
    .command('erase')
    .description('erase a person: one plans, another confirms; the audit log still verifies')
    .argument('[subject]', 'the id under which messages name the person in dataSubjects')
    .option('--plan', 'say what would be erased and note the request (default)')
    .option('--basis <code>', 'legal ground, goes on record (default: GDPR_ART_17_1)', code)
    .option('--confirm <id>', 'carry out a plan that somebody else made: --as reviewer-1')
    .option('--status <id>', 'how far an erasure has come, with its receipt')
    .option(
      '--replay',
      'complete what was interrupted, erase again what a restore brought back: --as reviewer-1',
    )
    .option(
      '--purge-storage',
      'rewrite every touched table, however large, and drop old write-ahead log; needs the superuser',
    )
    .option(
      '--no-purge-storage',
      'leave the files under the databases of an own instance as they are',
    )
    .action(
      run(async (context, subject: string | undefined, flags: EraseFlags) =>
        (await import('./commands/erase.ts')).erase(context, { ...flags, subject }),
      ),
    )
}

export function addErasures(program: Command, run: Run): void {
  paged(program.command('erasures'))
    .description('list erasures, newest first: planned, waiting for a second person, done')
    .addOption(
      new Option('--state <state>', 'only those of this state').choices([
        'PLANNED',
        'DEFERRED',
        'CONFIRMED',
        'ERASED',
        'COMPLETED',
      ]),
    )
    .action(
      run(async (context, flags: PageFlags & { state?: string }) =>
        (await import('./commands/erasures.ts')).listErasures(context, flags),
      ),
    )
}

export function addSubject(program: Command, run: Run): void {
  program
    .command('subject')
    .description('list the tasks, handoffs and records of a person, without any text')
    .argument('<subject>', 'the id under which messages name the person in dataSubjects')
    .action(
      run(async (context, subject: string) =>
        (await import('./commands/subject.ts')).showSubject(context, subject),
      ),
    )
}
