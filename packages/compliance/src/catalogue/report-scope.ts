import type { FrameworkRole } from '@remit/contract'
import { invalid } from '@remit/core/base'
import type { Catalogue, Control, FrameworkDefinition } from './definitions.ts'

/** The part of a framework that a report covers. */
export interface ReportScope {
  /** In the order of the framework; empty for a framework without categories. */
  readonly categories: readonly string[]
  readonly role: FrameworkRole | null
}

const SOC2_CATEGORIES: Readonly<Record<string, string>> = {
  CC: 'security',
  A: 'availability',
  C: 'confidentiality',
  PI: 'processing_integrity',
  P: 'privacy',
}

/** The category of a control by the letters of its id; null in a framework without categories. */
export function categoryOf(framework: FrameworkDefinition, controlId: string): string | null {
  const [letters = ''] = /^[A-Z]+/.exec(controlId) ?? []
  if (!framework.groups) return null
  return framework.id === 'soc2' ? (SOC2_CATEGORIES[letters] ?? null) : letters
}

/** Resolves the requested scope. Throws `invalid_request` if the framework does not have it. */
export function scopeOf(
  { framework, controls }: Catalogue,
  asked: { categories?: readonly string[] | undefined; role?: FrameworkRole | undefined },
): ReportScope {
  return {
    categories: asked.categories
      ? checkedCategories(framework, asked.categories)
      : defaultCategories(framework, controls),
    role: checkedRole(framework, asked.role),
  }
}

function checkedCategories(framework: FrameworkDefinition, asked: readonly string[]): string[] {
  const known = Object.keys(framework.groups ?? {})
  if (known.length === 0) throw invalid('categories', `${framework.id} has no categories`)
  for (const [i, category] of asked.entries()) {
    if (!known.includes(category))
      throw invalid(`categories.${i}`, `must be one of ${known.join(', ')}`)
    if (asked.indexOf(category) !== i) throw invalid(`categories.${i}`, 'is given more than once')
  }
  return known.filter((category) => asked.includes(category))
}

function defaultCategories(framework: FrameworkDefinition, controls: readonly Control[]): string[] {
  const ids = framework.default_scope ?? controls.map(({ id }) => id)
  const reported = new Set(ids.map((id) => categoryOf(framework, id)))
  return Object.keys(framework.groups ?? {}).filter((category) => reported.has(category))
}

function checkedRole({ id, roles }: FrameworkDefinition, role?: FrameworkRole) {
  if (role !== undefined && !roles) throw invalid('role', `${id} has no roles`)
  return role ?? null
}

/**
 * The controls in scope, in the order of the framework. A provision for both roles is in scope for
 * each role.
 */
export const controlsIn = ({ framework, controls }: Catalogue, scope: ReportScope): Control[] =>
  controls.filter(({ id }) => isInCategory(framework, id, scope) && concerns(framework, id, scope))

function isInCategory(
  framework: FrameworkDefinition,
  id: string,
  { categories }: ReportScope,
): boolean {
  const category = categoryOf(framework, id)
  return category === null || categories.includes(category)
}

function concerns({ roles }: FrameworkDefinition, id: string, { role }: ReportScope): boolean {
  if (role === null || role === 'both' || !roles) return true
  return roles[id] === role || roles[id] === 'both'
}

/** Describes the scope in one sentence for the report. */
export function scopeStatement(
  { framework }: Catalogue,
  { categories, role }: ReportScope,
): string {
  const agents = 'Actions that AI agents submitted to this server in the period'
  if (framework.roles) {
    const whose = role === null || role === 'both' ? '' : ` that concern the ${role}`
    return `${agents}. Provisions of the ${framework.name}${whose}, as selected by the organization; whether a provision applies depends on the role and on the system.`
  }
  const which = categories.map((category) => category.replaceAll('_', ' ')).join(', ')
  return `${agents}. ${framework.name}: ${which}, as selected by the organization.`
}
