// The commands about certificates: made, renewed and listed where there is no authority that does it.
import { isIP } from 'node:net'
import { InvalidArgumentError } from 'commander'
import type { Command } from 'commander'
import { wholeNumber } from './arguments.ts'
import type { Run } from './arguments.ts'
import type { CertsWish, Place } from './commands/certs.ts'

const DAYS = 90
const days = wholeNumber(1, 825)

export function addCerts(program: Command, run: Run): void {
  const certs = program
    .command('certs')
    .description('certificates for TLS, where there is no authority that makes them')
  placed(certs.command('new'))
    .description('make certificates, and the authority that signs them where there is none')
    .argument(
      '[names...]',
      'of these processes and servers (default: every one of Baton)',
      readNames,
      [],
    )
    .option(
      '--host <host>',
      'under which they are reached, name=host for one; repeatable',
      readHosts,
      [],
    )
    .option('--days <number>', 'how long they count', days, DAYS)
    .action(
      run(async (context, names: readonly string[], wish: CertsWish) =>
        (await import('./commands/certs.ts')).certsNew(context, names, wish),
      ),
    )
  placed(certs.command('renew'))
    .description(
      'give those a new key and certificate that have less than a third of their life left',
    )
    .argument('[names...]', 'these, whatever is left of them', readNames, [])
    .option('--days <number>', 'how long they count', days, DAYS)
    .action(
      run(async (context, names: readonly string[], wish: Place & { days: number }) =>
        (await import('./commands/certs.ts')).certsRenew(context, names, wish),
      ),
    )
  placed(certs.command('ls'))
    .description('list the certificates of a folder, and when each of them ends')
    .action(
      run(async (context, where: Place) =>
        (await import('./commands/certs.ts')).certsLs(context, where),
      ),
    )
}

const placed = (command: Command): Command =>
  command
    .option('--dir <folder>', 'where they are kept (default: certs in the folder of the instance)')
    .option(
      '--authority <folder>',
      'where the authority’s key is (default: authority in that folder)',
    )

function readNames(text: string, before: readonly string[]): readonly string[] {
  if (/^[a-z][a-z0-9-]{0,62}$/.test(text) && text !== 'ca') return [...before, text]
  throw new InvalidArgumentError('Expected small letters, digits and dashes, and not `ca`.')
}

const HOST =
  /^(?:\*\.)?(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i

function readHosts(text: string, before: readonly string[]): readonly string[] {
  const host = text.slice(text.indexOf('=') + 1)
  if (isIP(host) !== 0 || (HOST.test(host) && host.length <= 253)) return [...before, text]
  throw new InvalidArgumentError('Expected a name or an address, without scheme and port.')
}
