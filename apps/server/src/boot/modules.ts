import type { Module } from '@remit/core/module'

/** The names of the commercial packages. */
const KNOWN = ['@remit/governance-enterprise', '@remit/identity', '@remit/compliance'] as const

/** The names of their modules, by which their tables are known without them. */
export const MODULE_NAMES = ['governance', 'identity', 'compliance'] as const

/**
 * Loads the installed modules. A missing package means a smaller edition; a broken one stops the
 * boot, because only the look-up may fail.
 */
export async function loadModules(): Promise<Module[]> {
  const modules: Module[] = []
  for (const name of KNOWN) {
    const place = locate(name)
    if (place === null) continue
    const { default: module } = (await import(place)) as { default: Module }
    modules.push(module)
  }
  return modules
}

/** Returns true if any commercial package is installed, licensed or not. */
export const hasModules = (): boolean => KNOWN.some((name) => locate(name) !== null)

function locate(name: string): string | null {
  try {
    return import.meta.resolve(name)
  } catch (error) {
    if ((error as { code?: string }).code === 'ERR_MODULE_NOT_FOUND') return null
    throw error
  }
}
