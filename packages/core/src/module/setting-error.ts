/**
 * An invalid setting of a module: the server does not start. The message never contains a secret.
 */
export class SettingError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'SettingError'
  }
}
