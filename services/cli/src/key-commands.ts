// The commands about API keys: who may call the gateway, and as whom.
import type { Command } from 'commander'
import { FEW_MAX, paged } from './arguments.ts'
import type { Run } from './arguments.ts'
import type { KeyWish } from './commands/keys.ts'
import type { PageFlags } from './commands/list-pages.ts'

export function addKeys(program: Command, run: Run): void {
  const keys = program
    .command('keys')
    .description('API keys: who may call the gateway, and as whom')
  keys
    .command('new')
    .description('make an API key; gateways take it at once')
    .argument('[scopes]', 'a+b; executions:claim=type|type is for these agent types only')
    .option('--role <name>', 'the scopes of this role; may be repeated', collect, [])
    .requiredOption('--operator <name>', 'who acts through it: two keys of one are one person')
    .option('--tenant <name>', 'whose tasks it sends and sees; the default tenant’s otherwise')
    .option('--agent <id>', 'send and claim as this agent only; may be repeated', collect, [])
    .option('--expires <date>', 'the first day (UTC, YYYY-MM-DD) on which it is refused')
    .option('--for-settings', 'print an entry for BATON_API_KEYS, and write to no database')
    .action(
      run(async (context, scopes: string | undefined, wish: Omit<KeyWish, 'scopes'>) =>
        (await import('./commands/keys.ts')).keysNew(context, { ...wish, scopes }),
      ),
    )
  paged(keys.command('ls'), FEW_MAX)
    .description('list the keys that were made here, oldest first; none can be read back')
    .action(
      run(async (context, flags: PageFlags) =>
        (await import('./commands/keys.ts')).keysLs(context, flags),
      ),
    )
  keys
    .command('revoke')
    .description('have every gateway refuse a key within seconds')
    .argument('<id>', 'as `keys ls` shows it')
    .action(
      run(async (context, id: string) =>
        (await import('./commands/keys.ts')).keysRevoke(context, id),
      ),
    )
}

const collect = (text: string, before: readonly string[]): readonly string[] => [...before, text]
