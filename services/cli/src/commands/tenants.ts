// `tenants`: who shares this installation, and which agent types of others each may hand off to.
import { makeGrant, openTenant, withdrawGrant } from '@baton/engine'
import { isTenantName } from '@baton/ledger'
import { permanent } from '@baton/runtime'
import { listTenants } from '@baton/store'
import type { TenantView } from '@baton/store'
import type { Context } from '../context.ts'
import { EXIT } from '../exit-codes.ts'
import type { ExitCode } from '../exit-codes.ts'
import { administratorOf, asOwner, withDatabases } from '../instance/databases.ts'
import { nextStep } from '../terminal/next-steps.ts'
import { renderTable } from '../terminal/table.ts'
import { pageOfAll, sayShown, typedAgain } from './list-pages.ts'
import type { PageFlags } from './list-pages.ts'

export async function tenantsLs(context: Context, flags: PageFlags): Promise<ExitCode> {
  const { output } = context
  const all = await withDatabases(context, ({ pool }) => listTenants(pool))
  const listed = pageOfAll(all, { keyOf: ({ tenant }) => tenant, flags })
  output.data(output.json ? JSON.stringify(listed.rows) : table(listed.rows))
  sayShown(output, listed, `tenants ls${typedAgain({ limit: flags.limit })}`)
  output.next(nextStep('tenants add <name>'))
  return EXIT.fine
}

const table = (tenants: readonly TenantView[]): string =>
  renderTable(
    [{ title: 'TENANT' }, { title: 'SINCE' }, { title: 'MAY ALSO HAND OFF TO' }],
    tenants.map(({ tenant, createdAt, grants }) => [
      tenant,
      createdAt.toISOString().slice(0, 10),
      grants.map(({ agentType, grantedBy }) => `${agentType} (by ${grantedBy})`).join(', '),
    ]),
  )

export async function tenantsAdd(context: Context, tenant: string): Promise<ExitCode> {
  const { output } = context
  if (!isTenantName(tenant)) throw NAME_INVALID
  const isNew = await asOwner(context, (admin) =>
    openTenant(admin, administratorOf(context), tenant),
  )
  if (output.json) output.data(JSON.stringify({ tenant, isNew }))
  else output.words(isNew ? `${tenant} is a tenant.` : `${tenant} was a tenant before.`)
  output.words(`Its agents are called ${tenant}/<name>; what bears no such name stays as it was.`)
  output.next(nextStep(`keys new handoffs:send+handoffs:read --operator <name> --tenant ${tenant}`))
  return EXIT.fine
}

const NAME_INVALID = permanent('BATON_USAGE', 'a tenant cannot be called so', {
  fix: 'Take 1 to 31 lower-case letters, digits and dashes, a letter first.',
})

interface Grant {
  readonly tenant: string
  readonly agentType: string
}

/** Exit 5 where there is no such tenant. */
export async function tenantsGrant(context: Context, grant: Grant): Promise<ExitCode> {
  const { output } = context
  const { tenant, agentType } = grant
  const isNew = await asOwner(context, (admin) => makeGrant(admin, administratorOf(context), grant))
  if (isNew === undefined) throw tenantUnknown(tenant)
  if (output.json) output.data(JSON.stringify({ ...grant, isNew }))
  else output.words(`${tenant} may hand off to ${agentType}, which sees what it is sent.`)
  output.next(nextStep('tenants ls'))
  return EXIT.fine
}

/** What was sent under the grant goes on. Exit 5 where there was none. */
export async function tenantsRevoke(context: Context, grant: Grant): Promise<ExitCode> {
  const { output } = context
  const { tenant, agentType } = grant
  const was = await asOwner(context, (admin) =>
    withdrawGrant(admin, administratorOf(context), grant),
  )
  if (output.json) output.data(JSON.stringify({ ...grant, was }))
  else
    output.words(
      was
        ? `${tenant} may not hand off to ${agentType} any more; what was sent goes on.`
        : `${tenant} had no such grant.`,
    )
  output.next(nextStep('tenants ls'))
  return was ? EXIT.fine : EXIT.notFound
}

export const tenantUnknown = (tenant: string) =>
  permanent('BATON_TENANT_UNKNOWN', `there is no tenant ${tenant}`, {
    fix: 'Add it with `baton tenants add`, or take a name that `baton tenants ls` shows.',
  })
