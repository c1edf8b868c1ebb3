/** What a person may choose. Without a settings registry the defaults of schema/panel.json hold. */
import type { ISettingRegistry } from '@jupyterlab/settingregistry';

export interface Settings {
  side: 'left' | 'right';
  statusItem: boolean;
  openOnRun: boolean;
}

export const DEFAULTS: Settings = { side: 'right', statusItem: true, openOnRun: false };

/** Settings of one plugin, now and whenever they change. */
export class Chosen {
  now: Settings = DEFAULTS;
  private listeners = new Set<() => void>();

  /** A registry that fails leaves the defaults. */
  static async of(registry: ISettingRegistry | null, plugin: string): Promise<Chosen> {
    const chosen = new Chosen();
    const found = await registry?.load(plugin).catch(() => null);
    if (found) {
      const read = () => {
        chosen.now = { ...DEFAULTS, ...(found.composite as Partial<Settings>) };
        chosen.listeners.forEach(listener => listener());
      };
      found.changed.connect(read);
      read();
    }
    return chosen;
  }

  /** Calls `listener` now and at each change. */
  follow(listener: () => void): void {
    this.listeners.add(listener);
    listener();
  }
}
