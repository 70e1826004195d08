import type { Module } from '@remit/core'

/** The commercial packages, by the names under which they may be installed. */
const KNOWN = ['@remit/governance-enterprise', '@remit/identity', '@remit/compliance'] as const

/**
 * The modules that are installed here. A package that is not there is a smaller edition; one that is
 * there and broken stops the boot, because only its look-up is allowed to fail.
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

/** Whether any commercial package is installed, licensed or not. */
export const hasModules = (): boolean => KNOWN.some((name) => locate(name) !== null)

function locate(name: string): string | null {
  try {
    return import.meta.resolve(name)
  } catch (error) {
    if ((error as { code?: string }).code === 'ERR_MODULE_NOT_FOUND') return null
    throw error
  }
}
