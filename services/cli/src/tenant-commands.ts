// The commands about tenants: who shares an installation, and what each may reach of the others.
import type { Command } from 'commander'
import { FEW_MAX, paged } from './arguments.ts'
import type { Run } from './arguments.ts'
import type { PageFlags } from './commands/list-pages.ts'

export function addTenants(program: Command, run: Run): void {
  const tenants = program
    .command('tenants')
    .description('who shares this installation, and what each may reach of the others')
  paged(tenants.command('ls'), FEW_MAX)
    .description('list tenants and what was granted to them, by name')
    .action(
      run(async (context, flags: PageFlags) =>
        (await import('./commands/tenants.ts')).tenantsLs(context, flags),
      ),
    )
  tenants
    .command('add')
    .description('add a tenant: its agents are called <name>/...')
    .argument('<name>', 'lower-case letters, digits and dashes')
    .action(
      run(async (context, name: string) =>
        (await import('./commands/tenants.ts')).tenantsAdd(context, name),
      ),
    )
  tenants
    .command('grant')
    .description('let a tenant hand off to an agent type of another one')
    .argument('<tenant>')
    .argument('<agent-type>')
    .action(
      run(async (context, tenant: string, agentType: string) =>
        (await import('./commands/tenants.ts')).tenantsGrant(context, { tenant, agentType }),
      ),
    )
  tenants
    .command('revoke')
    .description('take such a grant back')
    .argument('<tenant>')
    .argument('<agent-type>')
    .action(
      run(async (context, tenant: string, agentType: string) =>
        (await import('./commands/tenants.ts')).tenantsRevoke(context, { tenant, agentType }),
      ),
    )
}
