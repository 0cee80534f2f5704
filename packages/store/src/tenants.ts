// Whose an agent is, and the sessions that see one tenant's rows alone.
import { ofTenant } from '@baton/postgres'
import type { PoolOptions } from '@baton/postgres'
import { createPool, run } from './database.ts'
import type { Database, Pool } from './database.ts'
import { TENANT_ROLE } from './migrate.ts'

/**
 * Connections on which row-level security shows the rows of one tenant: of the one that `tenant` names whenever a statement
 * or a transaction begins. `tenant` throws where nobody says for whom; nothing is asked then.
 */
export const createTenantPool = (options: PoolOptions, tenant: () => string): Pool =>
  ofTenant(createPool({ ...options, role: TENANT_ROLE }), tenant)

/** Whose an agent type is by its name: `acme/summary` is of acme, where there is such a tenant. */
export async function findTenantOfAgent(db: Database, agentType: string): Promise<string> {
  const text = 'select tenant_of_agent($1) as tenant'
  const [row] = await run<{ tenant: string }>(db, 'tenant_of_agent', text, [agentType])
  return row?.tenant ?? ''
}

/** Ids as somebody named them. */
interface NamedIds {
  readonly taskId: string | undefined
  readonly handoffId: string | undefined
}

/** Whether one of these ids is of a task or handoff of another tenant. */
export async function namesOfOther(
  db: Database,
  tenant: string,
  { taskId, handoffId }: NamedIds,
): Promise<boolean> {
  const text = `select exists (select from task where id = $2 and tenant <> $1)
    or exists (select from handoff where id = $3 and tenant <> $1) as other`
  const values = [tenant, taskId ?? null, handoffId ?? null]
  const [row] = await run<{ other: boolean }>(db, 'names_of_other', text, values)
  return row?.other === true
}

/** A tenant, and the agent types of others that it may hand off to. */
export interface TenantView {
  readonly tenant: string
  readonly createdAt: Date
  readonly grants: readonly { readonly agentType: string; readonly grantedBy: string }[]
}

/** All tenants, by name. */
export function listTenants(db: Database): Promise<TenantView[]> {
  const text = `
    select t.name as tenant, t.created_at as "createdAt", coalesce(json_agg(json_build_object(
      'agentType', g.agent_type, 'grantedBy', g.granted_by) order by g.agent_type) filter (where g.tenant is not null), '[]') as grants
    from tenant t left join tenant_grant g on g.tenant = t.name group by t.name order by t.name`
  return run(db, 'list_tenants', text)
}

/** Adds a tenant where there is none of this name; only the role that migrates may. Answers whether it is new. */
export async function addTenant(db: Database, tenant: string): Promise<boolean> {
  const text = 'insert into tenant (name) values ($1) on conflict do nothing returning name'
  return (await run(db, 'add_tenant', text, [tenant])).length > 0
}

export interface AgentGrant {
  readonly tenant: string
  readonly agentType: string
  readonly grantedBy: string
}

/** Lets a tenant hand off to an agent type of another; only the role that migrates may. Answers whether it is new. */
export async function grantAgent(db: Database, grant: AgentGrant): Promise<boolean> {
  const { tenant, agentType, grantedBy } = grant
  const text = `insert into tenant_grant (tenant, agent_type, granted_by) values ($1, $2, $3)
    on conflict do nothing returning tenant`
  return (await run(db, 'grant_agent', text, [tenant, agentType, grantedBy])).length > 0
}

/** Takes a grant back; what was sent under it goes on. Answers whether there was one. */
export async function revokeAgent(
  db: Database,
  { tenant, agentType }: Pick<AgentGrant, 'tenant' | 'agentType'>,
): Promise<boolean> {
  const text = 'delete from tenant_grant where tenant = $1 and agent_type = $2 returning tenant'
  return (await run(db, 'revoke_agent', text, [tenant, agentType])).length > 0
}
