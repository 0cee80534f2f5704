// The agents of `npm run bench -- graph`: a chain, and three branches of stated lengths with what joins them.
import { setTimeout as passed } from 'node:timers/promises'
import { defineAgent } from '@baton/sdk'
import type { AgentContext, NextHandoff } from '@baton/sdk'
import { TAKEN } from './message.ts'

export const CHAIN_HOPS = 8
/** How long the branches work. */
export const BRANCH_MS = [400, 500, 600] as const

const subtaskOf = ({ handoffId }: AgentContext) => ({
  ...TAKEN,
  subtask: { ...TAKEN.subtask, subtaskId: handoffId },
})
const nextOf = (to: string): NextHandoff => ({ to, taskDescription: 'Take the payload' })
const agent = { version: '1.0.0', requires: [] }

const links = Array.from({ length: CHAIN_HOPS }, (_, nth) =>
  defineAgent({
    ...agent,
    type: `link-${nth}`,
    execute: async (context) => ({
      ...subtaskOf(context),
      next: nth === CHAIN_HOPS - 1 ? [] : [nextOf(`link-${nth + 1}`)],
    }),
  }),
)

const fork = defineAgent({
  ...agent,
  type: 'fork',
  execute: async (context) => ({
    ...subtaskOf(context),
    next: BRANCH_MS.map((ms) => nextOf(`works-${ms}`)),
    join: { to: 'join', taskDescription: 'Bring it together' },
  }),
})

const branches = BRANCH_MS.map((ms) =>
  defineAgent({
    ...agent,
    type: `works-${ms}`,
    execute: async (context) => {
      await passed(ms)
      return { ...subtaskOf(context), next: [] }
    },
  }),
)

const join = defineAgent({
  ...agent,
  type: 'join',
  execute: async (context) => ({ ...subtaskOf(context), next: [] }),
})

export const agents = [...links, fork, ...branches, join]
