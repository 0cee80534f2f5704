// Types of pinned-tools.mjs, which stays plain JavaScript because boot.mjs runs it on any Node from 18.
import type { PinnedTool } from './fetch-tools.mjs'

export function pinnedNode(host: string): PinnedTool | undefined
export function pinnedPnpms(host: string): readonly PinnedTool[]
export function pinnedHelm(host: string): PinnedTool | undefined
export function pinnedTriedNodes(host: string): readonly PinnedTool[]
