// The commands about backups: taking, checking, deleting and restoring.
import { InvalidArgumentError } from 'commander'
import type { Command } from 'commander'
import { FEW_MAX, paged, wholeNumber } from './arguments.ts'
import type { Run } from './arguments.ts'
import type { PageFlags } from './commands/list-pages.ts'

const WHERE =
  'folder of the backups (default: BATON_BACKUP_FOLDER, else `backups` in the home), or s3://BUCKET/PREFIX'
const WHICH = 'id or folder of a backup; the newest without it'

export function addBackup(program: Command, run: Run): void {
  const backup = program
    .command('backup')
    .description('back up everything that cannot be made again, while it runs')
    .option('--to <place>', WHERE)
    .option('--secrets-to <file>', 'keep the secrets too, in a file of their own, apart from it')
    .action(
      run(async (context, { to, secretsTo }: { to?: string; secretsTo?: string }) =>
        (await import('./commands/backup.ts')).backup(context, { to, secretsTo }),
      ),
    )
  paged(backup.command('ls'), FEW_MAX)
    .description('list the backups there are, oldest first')
    .action(
      run(async (context, flags: PageFlags, command: Command) =>
        (await import('./commands/backup.ts')).listTaken(context, { to: toOf(command), flags }),
      ),
    )
  backup
    .command('verify')
    .description('check a backup without restoring it: every file and object against its digest')
    .argument('[backup]', WHICH)
    .action(
      run(async (context, which: string | undefined, _options: object, command: Command) =>
        (await import('./commands/backup.ts')).verifyBackup(context, { to: toOf(command), which }),
      ),
    )
  backup
    .command('prune')
    .description('delete old backups, and the write-ahead log and cold objects only they need')
    .requiredOption('--keep <number>', 'how many stay: the newest', wholeNumber(1))
    .action(
      run(async (context, { keep }: { keep: number }, command: Command) =>
        (await import('./commands/backup.ts')).prune(context, { to: toOf(command), keep }),
      ),
    )
  addFollow(backup, run)
}

interface FollowFlags {
  readonly slot?: string
  readonly once?: boolean
  readonly end?: boolean
}

function addFollow(backup: Command, run: Run): void {
  backup
    .command('follow')
    .description('keep the write-ahead log as it is written, so that a loss costs seconds')
    .option(
      '--slot <name>',
      'what the servers keep their log for (default: baton_follow)',
      slotName,
    )
    .option('--once', 'end when everything is there that was committed when it began')
    .option('--end', 'let the servers keep nothing more for it, and end')
    .action(
      run(async (context, { slot = 'baton_follow', ...flags }: FollowFlags, command: Command) =>
        (await import('./commands/backup-follow.ts')).followServers(context, {
          to: toOf(command),
          slot,
          ...flags,
        }),
      ),
    )
}

function slotName(text: string): string {
  if (/^[a-z0-9_]{1,63}$/.test(text)) return text
  throw new InvalidArgumentError('Expected a-z, 0-9 and _, at most 63 of them.')
}

/** An option of `backup` itself, which its subcommands share. */
const toOf = (command: Command): string | undefined => command.optsWithGlobals<{ to?: string }>().to

interface RestoreFlags {
  readonly from?: string
  readonly until?: Date | 'backup'
  readonly secrets?: string
  readonly keepDatabases?: boolean
  readonly dataDirectory?: string
  readonly server: 'operational' | 'audit'
  readonly finish?: boolean
  readonly erasures?: string
  readonly withoutErasures?: string
  readonly manifest?: string
}

interface DrillFlags extends Pick<RestoreFlags, 'from' | 'until' | 'manifest'> {
  readonly in?: string
}

export function addRestore(program: Command, run: Run): void {
  const restore = program
    .command('restore')
    .description('put a backup back, and everything that was kept since')
    .argument('[backup]', WHICH)
    .option('--from <place>', WHERE)
    .option('--until <time>', 'up to this time (ISO 8601), or `backup`: not beyond it', until)
    .option('--manifest <sha256>', 'refuse it where its manifest has another digest', digest)
    .option('--secrets <file>', 'where the secrets are gone: what --secrets-to wrote')
    .option('--keep-databases', 'put back only what stands outside them: seals and the cold store')
    .option(
      '--data-directory <folder>',
      'on a server of your own: the empty data directory to fill, on its machine',
    )
    .option('--server <name>', 'which of two servers that is: operational or audit', 'operational')
    .option('--finish', 'on servers of your own, once they run: erase again, and let services in')
    .option('--erasures <file>', 'a newer journal of erasures than the one with the backups')
    .option(
      '--without-erasures <reason>',
      'let services in although nobody knows whom was erased since; goes on record',
    )
    .action(
      run(async (context, which: string | undefined, flags: RestoreFlags) =>
        (await import('./commands/restore.ts')).restore(context, { which, ...flags }),
      ),
    )
  restore
    .command('drill')
    .description('restore a backup beside the instance, verify and time it, and put that on record')
    .argument('[backup]', WHICH)
    .option('--in <folder>', 'where it stands meanwhile (default: the home)')
    .action(
      run(
        async (context, which: string | undefined, { in: place }: DrillFlags, command: Command) => {
          const { from, until: time, manifest } = command.optsWithGlobals<DrillFlags>()
          const { restoreDrill } = await import('./commands/restore-drill.ts')
          return restoreDrill(context, { which, from, until: time, manifest, in: place })
        },
      ),
    )
}

function digest(text: string): string {
  if (/^[0-9a-f]{64}$/.test(text)) return text
  throw new InvalidArgumentError('Expected SHA-256 in lower-case hex.')
}

function until(text: string): Date | 'backup' {
  if (text === 'backup') return text
  const time = new Date(text)
  if (Number.isNaN(time.getTime())) throw new InvalidArgumentError('Expected a time in ISO 8601.')
  return time
}
