// The commands about people: whose decisions count, and their keys.
import { ROLES } from '@baton/ledger/people'
import type { Role } from '@baton/ledger/people'
import { InvalidArgumentError } from 'commander'
import type { Command } from 'commander'
import { FEW_MAX, paged } from './arguments.ts'
import type { Run } from './arguments.ts'
import type { PageFlags } from './commands/list-pages.ts'

export function addPeople(program: Command, run: Run): void {
  const people = program.command('people').description('whose decisions count here, and their keys')
  paged(people.command('ls'), FEW_MAX)
    .description('list whose signatures under decisions count, by name')
    .action(
      run(async (context, flags: PageFlags) =>
        (await import('./commands/people.ts')).listPeople(context, flags),
      ),
    )
  people
    .command('key')
    .description('make a key with which a person signs what they decide')
    .argument('<name>', 'the operator of their API key')
    .option('--role <role>', `${ROLES.join(' or ')}; may be repeated`, readRole, [])
    .action(
      run(async (context, person: string, { role }: { role: readonly Role[] }) =>
        (await import('./commands/people.ts')).makePersonKey(context, {
          person,
          roles: role.length === 0 ? ['reviewer'] : role,
        }),
      ),
    )
  people
    .command('sign')
    .description('sign a decision for a client that cannot sign: prints its Baton-Decision header')
    .argument('<needed>', 'the value of the header Baton-Decision-Needed')
    .action(
      run(async (context, needed: string) =>
        (await import('./commands/people.ts')).signNeeded(context, needed),
      ),
    )
}

function readRole(text: string, before: readonly Role[]): readonly Role[] {
  const role = ROLES.find((one) => one === text)
  if (role === undefined) throw new InvalidArgumentError(`there are ${ROLES.join(' and ')}.`)
  return [...new Set([...before, role])]
}
