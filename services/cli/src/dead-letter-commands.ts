// The commands about dead letters: handoffs that wait for a person.
import type { Command } from 'commander'
import { collect, FEW_MAX, paged, wholeNumber } from './arguments.ts'
import type { Run } from './arguments.ts'
import type { PageFlags } from './commands/list-pages.ts'
import type { Decision } from './commands/review.ts'

const DEAD_LETTER = 'id of a dead letter’s handoff or task, or the first digits of one'

export function addDeadLetters(program: Command, run: Run): void {
  const deadLetters = program
    .command('dlq')
    .description('dead letters: handoffs that wait for a person')
  addReading(deadLetters, run)
  addDeciding(deadLetters, run)
  addBulk(deadLetters, run)
}

interface ListFlags extends PageFlags {
  readonly reason?: string
  readonly cluster?: string
}

function addReading(deadLetters: Command, run: Run): void {
  paged(deadLetters.command('ls'))
    .description('list dead letters, oldest first')
    .option('--reason <reason>', 'only of this reason, such as SAFETY_VIOLATION')
    .option('--cluster <cluster>', 'only of this cluster')
    .action(
      run(async (context, flags: ListFlags) =>
        (await import('./commands/dead-letters.ts')).deadLetters(context, flags),
      ),
    )
  deadLetters
    .command('show')
    .description('show the evidence of one, who agreed to what, and what is still needed')
    .argument('<dead-letter>', DEAD_LETTER)
    .option('--text', 'also the quarantined message; who reads it is on record')
    .action(
      run(async (context, deadLetterId: string, { text = false }: { text?: boolean }) =>
        (await import('./commands/dead-letters.ts')).showDeadLetter(context, {
          deadLetterId,
          text,
        }),
      ),
    )
  paged(deadLetters.command('clusters'), FEW_MAX)
    .description('group them by what they have in common, the largest group first')
    .action(
      run(async (context, flags: PageFlags) =>
        (await import('./commands/dead-letters.ts')).deadLetterClusters(context, flags),
      ),
    )
}

function addDeciding(deadLetters: Command, run: Run): void {
  const decide = <Flags>(decisionOf: (flags: Flags) => Decision) =>
    run(async (context, deadLetterId: string, flags: Flags) =>
      (await import('./commands/review.ts')).review(context, deadLetterId, decisionOf(flags)),
    )
  deadLetters
    .command('release')
    .description('agree to let it go on as it is; a safety violation needs two people')
    .argument('<dead-letter>', DEAD_LETTER)
    .option(
      '--hours <number>',
      'how long the release may be made use of (default: 24)',
      wholeNumber(1, 168),
    )
    .action(decide(({ hours }: { hours?: number }) => ({ action: 'release', validHours: hours })))
  deadLetters
    .command('redact')
    .description('agree to let it go on without some texts; by default those of the evidence')
    .argument('<dead-letter>', DEAD_LETTER)
    .option('--at <pointer>', 'a place to take out; may be repeated', collect, [])
    .action(decide(({ at }: { at: readonly string[] }) => ({ action: 'redact', at })))
  deadLetters
    .command('discard')
    .description('give it up for good')
    .argument('<dead-letter>', DEAD_LETTER)
    .action(decide(() => ({ action: 'discard' })))
  deadLetters
    .command('ask')
    .description('ask its sender for another message')
    .argument('<dead-letter>', DEAD_LETTER)
    .action(decide(() => ({ action: 'ask-sender' })))
}

interface RedriveFlags {
  readonly cluster?: string
  readonly rate?: number
  readonly wait: boolean
  readonly show?: string
  readonly stop?: string
}

function addBulk(deadLetters: Command, run: Run): void {
  deadLetters
    .command('dry-run')
    .description('judge them by today’s schema, rules and agents; nothing is enqueued')
    .argument('[dead-letters...]', DEAD_LETTER)
    .option('--cluster <cluster>', 'all dead letters of a cluster')
    .action(
      run(async (context, deadLetterIds: readonly string[], { cluster }: { cluster?: string }) => {
        const { dryRunDeadLetters } = await import('./commands/redrive.ts')
        return dryRunDeadLetters(context, { deadLetters: deadLetterIds, cluster })
      }),
    )
  deadLetters
    .command('redrive')
    .description('send back those that would pass: five first, the rest when these completed')
    .argument('[dead-letters...]', DEAD_LETTER)
    .option('--cluster <cluster>', 'all dead letters of a cluster')
    .option(
      '--rate <number>',
      'how many a second after the first five (default: 10)',
      wholeNumber(1, 100),
    )
    .option('--no-wait', 'do not follow it')
    .option('--show <id>', 'how a re-drive stands that was begun before')
    .option('--stop <id>', 'end one that was begun before')
    .action(
      run(async (context, deadLetterIds: readonly string[], flags: RedriveFlags) => {
        const { redriveDeadLetters, showRedrive } = await import('./commands/redrive.ts')
        const { show, stop } = flags
        const known = stop ?? show
        return known === undefined
          ? redriveDeadLetters(context, { deadLetters: deadLetterIds, ...flags })
          : showRedrive(context, { redriveId: known, stop: stop !== undefined })
      }),
    )
}
